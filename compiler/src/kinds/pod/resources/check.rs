//! What validation refuses in the resources of a container or a pod.

use smol_str::SmolStr;

use super::{
    Level, MilliList, Role, Stated, Totals, is_hugepages, is_native, is_overcommittable, is_pod_level, milli_text,
};
use crate::base::FieldError;
use crate::base::name::{NameRule, check};
use crate::base::quantity::Quantity;
use crate::kinds::pod::field::Field;

/// `validateResourceRequirements`.
pub(super) fn check_stated(stated: &Stated, level: Level, resources: &Field<'_>, errors: &mut Vec<FieldError>) {
    let limits_field = resources.get("limits");
    let requests_field = resources.get("requests");
    for (list, field) in [(&stated.limits, &limits_field), (&stated.requests, &requests_field)] {
        for (resource, milli) in list {
            let wrong = check_name(resource, level).or_else(|| check_amount(resource, *milli));
            errors.extend(wrong.map(|message| field.get(resource).error(message)));
        }
    }
    for (resource, request) in &stated.requests {
        let limit = stated.limits.get(resource);
        let text = |milli: i128| milli_text(resource, milli);
        let message = match limit {
            None if is_overcommittable(resource) => continue,
            None => format!(
                "{resource} cannot be overcommitted: it needs a limit equal to the request of {}",
                text(*request)
            ),
            Some(limit) if is_overcommittable(resource) && request <= limit => continue,
            Some(limit) if is_overcommittable(resource) => {
                format!("the request of {} is more than the limit of {}", text(*request), text(*limit))
            }
            Some(limit) if request == limit => continue,
            Some(limit) => format!(
                "{resource} cannot be overcommitted: the request of {} must equal the limit of {}",
                text(*request),
                text(*limit)
            ),
        };
        errors.push(requests_field.get(resource).error(message));
    }
    if level == Level::Container {
        check_huge_pages(stated.requests.keys().chain(stated.limits.keys()), resources, errors);
    }
}

fn check_huge_pages<'a>(
    resources: impl Iterator<Item = &'a SmolStr> + Clone,
    field: &Field<'_>,
    errors: &mut Vec<FieldError>,
) {
    let is_compute = |name: &SmolStr| matches!(name.as_str(), "cpu" | "memory");
    if resources.clone().any(|name| is_hugepages(name)) && !resources.clone().any(is_compute) {
        errors.push(field.error("huge pages need a request or limit of cpu or memory beside them"));
    }
}

/// `validateOverhead`: the rules of limits.
pub(in crate::kinds::pod) fn check_overhead(overhead: &MilliList, field: &Field<'_>, errors: &mut Vec<FieldError>) {
    for (resource, milli) in overhead {
        let wrong = check_name(resource, Level::Container).or_else(|| check_amount(resource, *milli));
        errors.extend(wrong.map(|message| field.get(resource).error(message)));
    }
    check_huge_pages(overhead.keys(), field, errors);
}

/// `validatePodResourceConsistency`: what is stated for the pod as a whole covers its containers.
pub(in crate::kinds::pod) fn check_pod_level(
    pod: &Stated,
    containers: &[(Role, Stated)],
    totals: &Totals,
    resources: &Field<'_>,
    errors: &mut Vec<FieldError>,
) {
    let (requests_field, limits_field) = (resources.get("requests"), resources.get("limits"));
    // With limits of the pod, what its containers request becomes the pod's request where it has none.
    let from_containers =
        totals.requests.keys().filter(|resource| !pod.limits.is_empty() && is_overcommittable(resource));
    check_huge_pages(pod.requests.keys().chain(pod.limits.keys()).chain(from_containers), resources, errors);
    for (resource, of_pod) in &pod.requests {
        if let Some(total) = totals.requests.get(resource).filter(|total| *total > of_pod) {
            errors.push(requests_field.get(resource).error(format!(
                "the pod's request of {} is less than the {} that its containers request",
                milli_text(resource, *of_pod),
                milli_text(resource, *total)
            )));
        }
    }
    for (resource, of_pod) in &pod.limits {
        let regular = containers.iter().filter(|(role, _)| *role == Role::Regular);
        let largest = regular.filter_map(|(_, stated)| stated.limits.get(resource)).max();
        // Huge pages cannot be overcommitted, so that theirs add up; so do requests, which stand in for the pod's.
        let summed = if is_hugepages(resource) { totals.limits.get(resource) } else { None };
        let requested = if pod.requests.contains_key(resource) { None } else { totals.requests.get(resource) };
        let least = largest.max(summed).max(requested);
        if let Some(least) = least.filter(|least| *least > of_pod) {
            errors.push(limits_field.get(resource).error(format!(
                "the pod's limit of {} is less than the {} of its containers",
                milli_text(resource, *of_pod),
                milli_text(resource, *least)
            )));
        }
    }
}

/// Why a resource cannot be stated here.
fn check_name(resource: &str, level: Level) -> Option<String> {
    if let Err(expected) = check(NameRule::QualifiedName, resource) {
        return Some(format!("{resource:?} is not a resource name: expected {expected}"));
    }
    if level == Level::Pod && !is_pod_level(resource) {
        return Some(format!("{resource} cannot be stated for a pod as a whole: only cpu, memory and hugepages-* can"));
    }
    if !resource.contains('/') {
        let is_standard = matches!(resource, "cpu" | "memory" | "ephemeral-storage") || is_hugepages(resource);
        return (!is_standard).then(|| {
            format!(
                "{resource} is no resource of containers: expected cpu, memory, ephemeral-storage, hugepages-*, or a name \
                 with a domain like nvidia.com/gpu"
            )
        });
    }
    // A quota on it must have a valid name.
    let is_extended =
        !resource.starts_with("requests.") && check(NameRule::QualifiedName, &format!("requests.{resource}")).is_ok();
    (!is_native(resource) && !is_extended).then(|| {
        format!(
            "{resource} is no extended resource name: it must not begin with 'requests.', nor be too long for a quota"
        )
    })
}

/// Why an amount cannot be one of this resource.
fn check_amount(resource: &str, milli: i128) -> Option<String> {
    if milli < 0 {
        return Some(format!("{} is negative: expected 0 or more", milli_text(resource, milli)));
    }
    if !is_native(resource) && milli % 1000 != 0 {
        return Some(format!("{} is a fraction: {resource} is counted in whole units", milli_text(resource, milli)));
    }
    let page_size =
        resource.strip_prefix("hugepages-").map(|size| size.parse::<Quantity>().map_or(0, |size| size.value()));
    match page_size {
        Some(0) => Some(format!("{resource} names no page size: expected one like hugepages-2Mi")),
        Some(size) if milli % 1000 != 0 || milli / 1000 % size != 0 => {
            Some(format!("{} is not a multiple of the page size", milli_text(resource, milli)))
        }
        _ => None,
    }
}
